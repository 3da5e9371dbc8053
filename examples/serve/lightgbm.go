// Scores documents by a LightGBM model file: a line of features on stdin, a score on stdout.
//
//	CGO_LDFLAGS="-L$FOLDER -l:lib_lightgbm.so -Wl,-rpath,$FOLDER" go build -o score lightgbm.go
//	./score model.txt < features.txt
//
// FOLDER is lib/ in the Python package lightgbm, or where `cmake --install` put the library.
package main

/*
#include <stdint.h>
#include <stdlib.h>
int LGBM_BoosterCreateFromModelfile(const char *path, int *rounds, void **model);
int LGBM_BoosterGetNumFeature(void *model, int *features);
int LGBM_BoosterPredictForMatSingleRow(void *model, const void *row, int type, int features, int row_major, int predict,
                                       int first_round, int rounds, const char *params, int64_t *length, double *score);
enum { DOUBLES = 1, RAW_SCORE = 1, ALL_ROUNDS = -1 };
*/
import "C"

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"strconv"
	"unsafe"
)

func main() {
	var model unsafe.Pointer
	var rounds, features C.int
	if C.LGBM_BoosterCreateFromModelfile(C.CString(os.Args[1]), &rounds, &model) != 0 {
		log.Fatal("no model")
	}
	C.LGBM_BoosterGetNumFeature(model, &features)
	row, params := make([]float64, features), C.CString("")
	words := bufio.NewScanner(os.Stdin)
	words.Split(bufio.ScanWords)
	for {
		for i := range row {
			if !words.Scan() {
				return
			}
			row[i], _ = strconv.ParseFloat(words.Text(), 64) // "nan" is a missing value
		}
		var length C.int64_t
		var score C.double
		if C.LGBM_BoosterPredictForMatSingleRow(model, unsafe.Pointer(&row[0]), C.DOUBLES, features, 1, C.RAW_SCORE, 0,
			C.ALL_ROUNDS, params, &length, &score) != 0 {
			log.Fatal("no score")
		}
		fmt.Println(float64(score))
	}
}
