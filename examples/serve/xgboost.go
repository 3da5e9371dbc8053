// Scores documents by an XGBoost model file: a line of features on stdin, a score on stdout.
//
//	CGO_LDFLAGS="-L$FOLDER -lxgboost -Wl,-rpath,$FOLDER" go build -o score xgboost.go
//	./score model.ubj < features.txt
//
// FOLDER is lib/ in the Python package xgboost, or where `cmake --install` put the library.
package main

/*
#include <stdint.h>
#include <stdlib.h>
int XGBoosterCreate(const void **cached, uint64_t n_cached, void **model);
int XGBoosterLoadModel(void *model, const char *path);
int XGBoosterGetNumFeature(void *model, uint64_t *features);
int XGDMatrixCreateFromMat(const float *rows, uint64_t n_rows, uint64_t features, float missing, void **data);
int XGBoosterPredictFromDMatrix(void *model, void *data, const char *config, const uint64_t **shape,
                                uint64_t *dimensions, const float **scores);
int XGDMatrixFree(void *data);
*/
import "C"

import (
	"bufio"
	"fmt"
	"log"
	"math"
	"os"
	"strconv"
	"unsafe"
)

func main() {
	var model, data unsafe.Pointer
	var features, dimensions C.uint64_t
	var shape *C.uint64_t
	var scores *C.float
	margins := C.CString(`{"type": 1, "training": false, "iteration_begin": 0, "iteration_end": 0, "strict_shape": false}`)
	if C.XGBoosterCreate(nil, 0, &model) != 0 || C.XGBoosterLoadModel(model, C.CString(os.Args[1])) != 0 {
		log.Fatal("no model")
	}
	C.XGBoosterGetNumFeature(model, &features)
	row := make([]C.float, features)
	words := bufio.NewScanner(os.Stdin)
	words.Split(bufio.ScanWords)
	for {
		for i := range row {
			if !words.Scan() {
				return
			}
			value, _ := strconv.ParseFloat(words.Text(), 32) // "nan" is a missing value
			row[i] = C.float(value)
		}
		if C.XGDMatrixCreateFromMat(&row[0], 1, features, C.float(math.NaN()), &data) != 0 ||
			C.XGBoosterPredictFromDMatrix(model, data, margins, &shape, &dimensions, &scores) != 0 {
			log.Fatal("no score")
		}
		fmt.Println(float32(*scores))
		C.XGDMatrixFree(data)
	}
}
