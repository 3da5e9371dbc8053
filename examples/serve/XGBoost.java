import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.LongByReference;
import com.sun.jna.ptr.PointerByReference;
import java.util.Scanner;

/**
 * Scores documents by an XGBoost model file: a line of features on stdin, a score on stdout.
 *
 * <pre>java -cp jna.jar -Djna.library.path="$FOLDER" XGBoost.java model.ubj < features.txt</pre>
 *
 * FOLDER is lib/ in the Python package xgboost, or where `cmake --install` put the library; jna.jar is net.java.dev.jna:jna.
 */
public class XGBoost {
    interface Api extends Library {
        int XGBoosterCreate(Pointer cached, long nCached, PointerByReference model);

        int XGBoosterLoadModel(Pointer model, String path);

        int XGBoosterGetNumFeature(Pointer model, LongByReference features);

        int XGDMatrixCreateFromMat(float[] rows, long nRows, long features, float missing, PointerByReference data);

        int XGBoosterPredictFromDMatrix(
                Pointer model, Pointer data, String config, PointerByReference shape, LongByReference dimensions,
                PointerByReference scores);

        int XGDMatrixFree(Pointer data);
    }

    static final String MARGINS =
            "{\"type\": 1, \"training\": false, \"iteration_begin\": 0, \"iteration_end\": 0, \"strict_shape\": false}";

    public static void main(String[] arguments) {
        Api api = Native.load("xgboost", Api.class);
        PointerByReference model = new PointerByReference(), data = new PointerByReference();
        PointerByReference shape = new PointerByReference(), scores = new PointerByReference();
        if (api.XGBoosterCreate(null, 0, model) != 0 || api.XGBoosterLoadModel(model.getValue(), arguments[0]) != 0)
            throw new IllegalArgumentException("no model");
        LongByReference features = new LongByReference();
        api.XGBoosterGetNumFeature(model.getValue(), features);
        float[] row = new float[(int) features.getValue()];
        Scanner words = new Scanner(System.in);
        while (words.hasNext()) {
            for (int i = 0; i < row.length; i++)
                row[i] = Float.parseFloat(words.next().replace("nan", "NaN")); // a missing value
            if (api.XGDMatrixCreateFromMat(row, 1, row.length, Float.NaN, data) != 0
                    || api.XGBoosterPredictFromDMatrix(
                            model.getValue(), data.getValue(), MARGINS, shape, new LongByReference(), scores) != 0)
                throw new IllegalArgumentException("no score");
            System.out.println(scores.getValue().getFloat(0));
            api.XGDMatrixFree(data.getValue());
        }
    }
}
